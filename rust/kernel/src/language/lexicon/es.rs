//! Spanish.

use super::Lexicon;
use super::claims::Claims;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "es",
    common: "el la los las un una unos unas lo al del de y o u e pero no sí ni que en a con por para \
        sin sobre entre hasta desde hacia es son era eran fue fueron ser está están estaba \
        estaban estar ha han he hay había tiene tienen tenía tengo tener hace hizo puede pueden \
        podía quiere quieren yo tú él ella ellos ellas nosotros usted ustedes me te se le les \
        nos mi mis tu tus su sus nuestro nuestra nuestros mío este esta estos estas ese esa eso \
        aquel aquella esto aquí allí ahí como más menos muy ya también todavía aún siempre nunca \
        nada algo alguien todo toda todos todas otro otra mucho mucha muchos muchas si porque \
        cuando donde gusta gustan",
    stop_words: "a al como con cuál cuáles cuándo cuánta cuántas cuánto cuántos de del desde donde \
        dónde e el ella ellas ellos en entre era eran es esa ese eso esta está están este esto \
        estos fue fueron ha han hasta hay la las le les lo los me mi mis nos nuestra nuestro o \
        para pero por porque que qué quién quiénes se ser si sobre son su sus te tiene tienen tu \
        tus un una unas unos y ya yo",
    time: "ayer anteayer hoy mañana anoche semana semanas mes meses año años día días lunes martes \
        miércoles jueves viernes sábado sábados domingo domingos tarde tardes noche noches \
        madrugada mediodía hora horas minuto minutos pasado pasada próximo próxima último última \
        desde recientemente pronto antes después verano invierno primavera otoño navidad siglo \
        década",
    kin: "madre mamá padre papá hermana hermanas hermano hermanos hijo hija hijos hijas esposa \
        esposo marido mujer amigo amiga amigos amigas familia padres niño niña niños abuela \
        abuelo abuelos nieto nieta tía tío primo prima sobrino sobrina pareja novio novia \
        prometido prometida compañero compañera compañeros colega colegas jefe jefa mentor \
        mentora equipo vecino vecina vecinos suegra suegro cuñado cuñada profesor profesora \
        médico médica",
    months: [
        "enero #ene",
        "febrero #feb",
        "marzo #mar",
        "abril #abr",
        "*mayo",
        "junio #jun",
        "julio #jul",
        "agosto #ago",
        "septiembre setiembre #sep #sept",
        "octubre #oct",
        "noviembre #nov",
        "diciembre #dic",
    ],
    in_month: "en de desde hasta del",
    asks: "por es son era fue está están ha han hay tiene tienen puede pueden le les se hizo vive",
    when: "cuándo",
    place: "dónde adónde",
    who: "quién quiénes",
    which: "qué cuál cuáles",
    how: "cómo cuánto cuánta cuántos cuántas",
    named: "ciudad ciudades libro libros nombre nombres país países lugar canción canciones película \
        películas juego empresa compañía pueblo banda grupo artista escuela universidad \
        restaurante hotel calle idioma",
    called: "llama llaman llamaba llamaban",
    times: "tiempo fecha día días mes meses semana semanas año años hora horas minutos",
    numbers: "uno dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil",
    conditions: "before: antes_de antes_del justo_antes_de justo_antes_del | until: hasta | since: \
        desde a_partir_de | after: después_de después_del tras | between: entre | and: y | beginning: \
        principios_de comienzos_de inicios_de al_principio_de al_principio_del primeros_días_de \
        primeros_días_del primer_día_de | middle: mediados_de | end: finales_de fines_de \
        últimos_días_de últimos_días_del último_día_de | in: en durante | newest: por_última_vez \
        lo_último más_reciente último_cambio | oldest: al_principio primero inicialmente al_inicio \
        originalmente originariamente empezamos inicial | what: qué cuál cuáles | why: por_qué | \
        follows: reemplazó_a reemplaza_a sustituyó_a sustituye_a vino_después_de vino_después_del \
        vino_tras sucesor_de | precedes: reemplazado_por reemplazada_por sustituido_por sustituida_por \
        predecesor_de dio_paso_a | while: en_la_época_de en_tiempos_de en_los_tiempos_de | when: \
        cuando mientras el_día_que | decides: elegimos escogimos decidimos optamos adoptamos usábamos \
        | cuts: usamos usábamos tomamos era eran es como qué cuál dónde cómo | past: era eran teníamos \
        tenía había estaba estaban usábamos | states: vigente vigentes | from: de | to: a | back: \
        allá_por | units: día días semana semanas fin_de_semana mes meses año años noche",
    claims: Claims {
        now: "desde_ayer desde_esta_mañana desde_esta_semana a_partir_de_hoy en_adelante hoy_por_hoy desde_este_momento de_momento ahora actualmente \
            a_partir_de_ahora hoy_en_día desde_ahora en_la_actualidad de_ahora_en_adelante \
            últimamente ahora_mismo a_día_de_hoy desde_hoy desde_hace desde_que",
        ends: "es_historia pasó_a_la_historia ya_no ya_no_es dejó_de dejado_de no…más nunca_más \
            dejaron_de deja_de dejó_el dejó_la ha_dejado abandonó ha_dejado_de han_dejado_de \
            lo_ha_dejado lo_dejó la_dejó ya_ni ya_nunca ya_tampoco no…desde_hace nunca_volvió \
            dejado_el dejado_la abandonado_el quitó_el_hábito se_ha_quitado se_quitó no_volvió \
            dejé dejé_de dejamos_de he_dejado he_dejado_de hemos_dejado_de lo_dejé la_dejé dejaron \
            dejó lo_dejaron la_dejaron ha_colgado colgó_las colgué se_quitó_de me_quité \
            me_he_quitado abandoné abandonamos no_prueba ni_lo_prueba ya_no_necesita ya_no_hay \
            se_acabaron se_acabó_el se_acabó_la acabó_con suspendieron suprimieron suprimido \
            suprimida abolió quitamos quité retiraron retiramos",
        disposes: "suspendieron_el cancelaron_el vendió vendido vendida canceló cancelado \
            cancelada murió falleció regaló devolvió perdió tiró eliminó borró anuló anulada \
            anulado se_deshizo dio_de_baja se_dio_de_baja suspendió donó suspendida ha_vendido \
            han_vendido se_vendió ha_cancelado ha_muerto se_murió ha_fallecido ha_perdido \
            le_robaron robaron robado robada ha_tirado ha_regalado ha_devuelto devolvió_el \
            rescindió rescindido liquidó subastó sacrificaron traspasó_el anuló_la cedió_el \
            desechó derribaron derribado caducó quitó quitaron quitado vendí vendimos vendieron \
            regalé regalamos regalaron tiré tiramos tiraron cancelé cancelamos cancelaron anulé \
            anulamos anularon perdí perdimos devolví devolvimos devolvieron borré eliminamos doné \
            donaron se_deshicieron_de me_deshice nos_deshicimos di_de_baja dimos_de_baja \
            me_di_de_baja he_vendido hemos_vendido he_cancelado hemos_cancelado he_regalado \
            he_tirado me_robaron nos_robaron se_rompió_del_todo fue_al_desguace al_desguace \
            a_la_basura pasó_a_mejor_vida se_nos_fue tuvimos_que_sacrificar sacrificamos no_renovó \
            no_renové no_renovamos no_hemos_renovado rescindí rescindimos se_ha_muerto murieron \
            robaron_el robaron_la",
        closes: "causó_baja han_roto reabrió reabierto reabierta ha_reabierto terminó terminado \
            acabó finalizó concluyó arreglado arreglada arregló reparó reparado reparada resuelto \
            resuelta resolvió eliminado eliminada se_separó se_divorció divorciado divorciada \
            dio_a_luz se_fue cerró cerrado cerrada se_retiró jubiló se_jubiló aprobó se_recuperó \
            recuperó curado encontró funciona_de_nuevo de_nuevo completó completada completado \
            corregido corregida fusionado desactivado renunció se_graduó graduó expiró caducó \
            rompió volvió_al regresó ha_terminado ha_acabado ha_finalizado han_terminado \
            ha_cerrado han_cerrado clausurado clausuró solucionado solucionada solucionó subsanado \
            arreglaron repararon han_arreglado han_reparado ya_funciona vuelve_a_funcionar \
            funciona_otra_vez otra_vez ya_está ha_vuelto volvió_de volvió_del regresó_de \
            se_ha_recuperado sanó se_curó le_dieron_el_alta dio_el_alta el_alta se_ha_jubilado \
            prejubilado se_ha_retirado retirado ha_renunciado dimitió ha_dimitido cesó cesado \
            licenciado se_licenció egresó ha_aprobado suspendió suspendido nació ha_nacido dio_luz \
            tuvo_un_bebé rompieron se_separaron se_divorciaron se_han_separado se_han_divorciado \
            se_ha_separado se_ha_divorciado enviudó se_disolvió disuelto desmontado desactivaron \
            apagado apagaron eliminaron eliminado_el pagó_la liquidado saldado terminé terminamos \
            terminaron acabé acabamos acabaron cerré cerramos arreglé arreglamos resolvimos \
            resolvieron me_recuperé me_curé me_gradué me_jubilé me_separé me_divorcié lo_dejaron \
            rompimos rompí volví_de volvimos_de regresé regresamos aprobé aprobaron aprobada \
            aprobado concedieron concedido denegaron denegado quedó_resuelto quedó_cerrado \
            quedó_listo dado_de_alta dada_de_alta me_dieron_el_alta hicieron_las_paces \
            hizo_las_paces se_reconciliaron saldó saldé saldada liquidé pagué pagaron \
            terminó_de_pagar reincorporó se_reincorporó reincorporado se_ha_reincorporado separado \
            se_disolvieron",
        changes: "rebajó rebajado rebajada rebaja aplazan han_aplazado han_adelantado \
            han_retrasado han_trasladado postergó postergado postergada trasladada aumentada \
            reducida ampliada renombrada movido movida escalado escaló duplicado duplicada dobló \
            doblado reduce retrasado retrasada atrasada se_mudó mudó mudado mudada se_trasladó \
            trasladó trasladado cambió cambiado cambia pasó se_pasó migró migrado reemplaz* \
            sustituy* actualizó actualizado actualizada ascendi* subió bajó aumentó redujo \
            aumentado reducido aplazó aplazado aplazada retrasó pospuso pospuesta adelantó amplió \
            ampliado prolongó convirtió se_convirtió renombró renombrado movió movió_a se_movió \
            creció duplicó trasladó_a reprogramó reprogramada en_su_lugar pintó_de ahora_es \
            aplazaron trasladaron cambiaron subieron bajaron retrasaron adelantaron movieron \
            pasaron se_ha_mudado ha_cambiado negoció la_dejó_en lo_dejó_en lleva se_ha_cambiado \
            cambiar_a ha_pasado ha_subido ha_bajado han_subido han_bajado ha_migrado \
            ha_sido_reemplazado sustituido sustituida reemplazado reemplazada ascendido ascendida \
            ascendieron degradado se_ha_trasladado aumentaron redujeron rebajaron incrementó \
            incrementado disminuyó elevó elevado ampliaron extendió extendido prorrogó prorrogado \
            pospuesto pospusieron atrasó atrasado reprogramado reprogramaron reubicado reubicó \
            renombraron rebautizó rebautizado actualizaron migraron se_pasaron se_cambió \
            se_cambiaron se_convirtió_en se_ha_convertido se_volvió se_hizo ahora_lleva ahora_usa \
            ahora_va ha_crecido crecieron encogió duplicaron reescribió reescrito reescrita heredó \
            tomó_el_relevo tomó_el_mando relevó relevado sucedió sucede cedió traspasó traspasado \
            entregó_el ascendió_a fichó fichó_por transfirió transferido adelantado adelantada \
            recortó recortado acortó alargó saltó_a pintó tiñó cortó_el_pelo optó_por se_decantó \
            eligió prefirió_finalmente cambió_de vuelve_a_usar volvió_a nombrado nombrada elegido \
            elegida sustituyó intercambió permutó le_subieron le_bajaron me_mudé nos_mudamos \
            se_mudaron me_he_mudado nos_hemos_mudado cambié cambiamos me_cambié me_he_cambiado \
            nos_cambiamos nos_hemos_cambiado he_cambiado hemos_cambiado pasamos_a pasamos pasé \
            me_pasé me_he_pasado nos_pasamos migré migramos hemos_migrado subí subimos bajé \
            bajamos reduje redujimos aumenté moví movimos aplacé aplazamos retrasamos retrasé \
            adelantamos me_trasladé nos_trasladamos se_instaló me_instalé se_ha_instalado \
            se_fue_a_vivir me_fui_a_vivir se_va_a_vivir al_final_es al_final_será quedó_para \
            queda_para ha_quedado_para se_queda_en quedó_en sustituyeron reemplazó reemplazaron \
            releva ha_sustituido cogió_el_relevo tomó_las_riendas nuevo_jefe nueva_jefa \
            nuevo_trabajo nueva_dirección nuevo_número nuevo_piso nuevo_coche nuevo_móvil \
            nueva_fecha ha_cambiado_de cambié_de cambiamos_de cambiaron_de se_convirtió_al \
            vuelve_a_comer volvió_a_comer vuelve_a_fumar en_cambio ha_pasado_a_ser pasó_a_ser \
            pasa_a_ser se_hizo_vegetariana se_hizo_vegetariano se_ha_hecho se_hicieron tradujo \
            traducido traducida",
        begins: "se_casó compró empezó comenzó nuevo nueva adoptó aceptó contratado contratada \
            se_unió entró se_comprometió consiguió casado_con estrenó se_incorporó abrió \
            ha_comprado han_comprado ha_empezado ha_comenzado se_ha_casado se_casaron \
            se_han_casado se_ha_comprometido se_prometió se_incorpora se_ha_incorporado ingresó \
            firmó_con firmó se_matriculó se_inscribió fundó montó montó_su abrió_su estrena \
            adquirió alquiló se_echó_novio se_echó_novia adoptaron contrató contrataron entró_en \
            comenzó_en empezó_en inició heredó_el compré compramos compraron me_compré \
            me_he_comprado se_compró se_ha_comprado nos_compramos nos_hemos_comprado empecé \
            empezamos empezaron comencé he_empezado hemos_empezado me_apunté se_apuntó me_uní \
            me_casé nos_casamos adopté adoptamos acepté aceptaron firmé firmamos abrí abrimos \
            ha_abierto contratamos conseguí ha_conseguido he_conseguido encontré ha_encontrado \
            ha_alquilado he_alquilado alquilé fichó_por ha_fichado le_contrataron me_contrataron \
            la_contrataron lo_contrataron entré_en ha_entrado_en entró_a_trabajar",
        leaves: "dejó renunció abandonó despidieron despedido despedida se_marchó salió_de \
            dimitió se_fue_de se_marchó_de ha_dejado dejado salió_del fue_despedido fue_despedida \
            la_despidieron lo_despidieron le_despidieron echaron_de la_echaron lo_echaron \
            ha_renunciado renunció_a colgó abandonado ha_abandonado se_dio_de_baja_en se_ha_ido \
            dimitió_de cesó_en dejó_los_estudios me_fui_de me_fui nos_fuimos_de me_marché \
            renuncié dimití se_despidió me_despidieron nos_despidieron dejé_el_trabajo \
            dejó_el_trabajo dejé_la dejé_el ha_dejado_el_trabajo se_salió_de me_salí salí_de",
        corrects: "mea_culpa error_mío fallo_mío rectifico me_he_equivocado en_realidad corrección \
            de_hecho rectificación error equivocación realmente en_verdad por_error malentendido \
            me_equivoqué se_equivocó perdón digo mejor_dicho quería_decir quise_decir me_confundí \
            se_confundió resulta_que resultó_que resultó_ser no_era_así estaba_equivocado \
            estaba_equivocada fue_un_error corrijo al_final_no cambié_de_idea cambió_de_idea \
            cambió_de_opinión",
        replaces: "en_lugar_de en_vez_de en_lugar_del en_vez_del",
        contrasts: "sino",
        adds: "también además otro otra otros otras no_solo no_sólo ya_no_solo asimismo igualmente \
            tanto adicional ambos ambas junto_con aparte incluso también_ por_otro_lado \
            al_mismo_tiempo a_la_vez simultáneamente además_de aparte_de más_de_un más_de_una \
            segunda_residencia adicionales extra un_poco_más ni_siquiera no_solamente \
            no_únicamente sino_también segundo segunda tercero tercera tercer",
        hedges: "si gustaría podría podrían quizás quizá tal_vez piensa pensando considera \
            considerando quisiera dice dijo dicen dice_que según cree creía parece sueña espera \
            planea a_lo_mejor aseguran asegura afirma supuestamente al_parecer posiblemente \
            probablemente duda habría sería estaría tendría viviría trabajaría rumor rumorea \
            rumores contó cuenta_que cuenta imagina desea intenta pretende acaso ojalá casi \
            debería va_a van_a_ver iba_a quiere_*ar quiere_*er quiere_*ir quería_*ar quiere_*arse \
            quisieran querría querrían desearía preferiría debería_ser puede_que puede_ser podrá \
            quién_sabe no_está_claro no_se_sabe se_rumorea rumorean corre_el_rumor dicen_por_ahí \
            asegura_que afirman alega alegan sostiene opina opinan sospecha sospechan imagina_que \
            supone supongo supuesto presunto presuntamente tentativamente en_teoría \
            hipotéticamente algún_día depende_de_si siempre_que con_tal a_menos_que en_caso_de \
            de_ser estudia_la_posibilidad estudia_mudarse baraja barajan valora contempla \
            se_plantea plantea propone propuso sugiere sugirió recomendó promete prometió amenaza \
            bromea bromeó jura le_gustaría les_gustaría tiene_pensado tiene_previsto tiene_ganas \
            piensan planean planeaba esperan ha_dicho han_dicho había_dicho comentó comenta \
            contaron oyó escuchó_que preguntó pregunta_si pregunta solicitó_información busca_piso \
            sin_confirmar por_confirmar pendiente_de_confirmar",
        temporary: "esta_semana hoy ayer de_vacaciones de_visita este_mes este_fin_de_semana \
            temporalmente por_ahora de_momento por_el_momento esta_noche esta_mañana esta_tarde \
            este_año este_verano hasta_el hasta_la hasta_mañana hasta_nuevo durante_una_semana \
            por_una_semana de_viaje una_vez de_paso mañana la_semana_pasada este_lunes \
            este_viernes anoche cuando_viaja de_forma_temporal temporal provisional \
            provisionalmente interino interina mientras_tanto entre_tanto este_martes \
            este_miércoles este_jueves este_sábado este_domingo esta_temporada este_invierno \
            este_otoño esta_primavera hasta_que hasta_finales hasta_agosto hasta_septiembre \
            hasta_octubre hasta_noviembre hasta_diciembre hasta_enero hasta_febrero hasta_marzo \
            hasta_abril hasta_mayo hasta_junio hasta_julio por_unos_días unos_días por_dos_semanas \
            durante_dos_semanas durante_un_mes por_un_mes por_un_tiempo una_temporada \
            de_baja_hasta anteayer pasado_mañana la_semana_que_viene la_próxima_semana \
            el_próximo_mes el_fin_de_semana_pasado excepcionalmente a_modo_de_prueba",
        partly: "cuando mientras solo sólo solamente a_veces en_la_mayoría_de_los_casos únicamente \
            normalmente generalmente casi_siempre parcialmente en_parte directamente salvo excepto \
            a_menudo rara_vez principalmente si_hace_falta a_lo_sumo como_mucho como_mínimo \
            al_menos apenas casi_nunca en_ocasiones de_cuando_en_cuando mayormente en_su_mayoría \
            sobre_todo en_caso_de_emergencia cada_dos tan_solo tan_sólo nada_más_que fuera_de \
            durante_las durante_los",
        denies: "no nunca jamás ni sin tampoco nadie ningún ninguna",
        from: "de del desde",
        to: "a al para hasta por",
        user: "usuario usuaria usuarios",
        be: "es son era eran fue está están estaba : =",
        have: "tiene tienen tenía tener posee",
        prepositions: "a al ante bajo con contra de del desde durante en entre hacia hasta para \
            por según sin sobre tras como",
        function: "el la los las un una unos unas lo y o ser se su sus le les ha han que él ella \
            hay ya este esta ese esa muy así aún todavía",
        owners: "su sus este esta estos estas ese esa esos esas aquel aquella mi mis nuestro \
            nuestra",
        indefinite: "un una unos unas otro otra algunos algunas varios varias muchos",
        kin: "inquilino inquilina cliente clientes perro perra perros gato gata gatos mascota \
            nuera yerno ahijado ahijada gemelo gemela gemelos hijastro hijastra casero casera \
            invitado invitados bebé caballo conejo padre madre hermanastra socio",
        not_kin: "familia jefe jefa equipo médico médica profesor profesora mentor mentora",
        many: "entrega_en entregan_en entrega…en entregan…en suscrito suscrita habla hablan gusta gustan encanta juega juegan toca lee escucha come bebe sabe \
            conoce escribe visitó viajó compró encantan odia ama aprende cocina colecciona miembro \
            alérgico alérgica compatible disponible menciona canta baila pinta estudia_también ve \
            necesita quiere admira cree espera interesa aficionado fan puede ofrece recomienda \
            soporta exporta teme miedo corre_maratones nada_en pesca caza cultiva cría adora \
            detesta disfruta apoya sigue_a entrena_a da_clases asiste_a participa_en sueña_con \
            dona habla_con admite comparte",
        one: "vive vivía viven viviendo trabaja trabajaba trabajan trabajando prefiere prefieren \
            cierra abre empieza comienza termina llama cuesta pesa dura usa usan utiliza corre \
            gana paga conduce estudia reside sale llega acaba funciona programa reporta depende_de \
            alquila duerme se_levanta enseña escrito escrita alojado alojada basado basada \
            dirigido dirigida ensaya celebra entrena guarda almacena emplea escucha_en reside_en \
            ubicado ubicada situado situada se_llama se_dedica_a ejerce ejerce_de labora curso \
            cursa milita juega_en juega_para canta_en toca_en se_acuesta desayuna cena_a almuerza \
            viaja_en se_desplaza va_en compra_en ahorra_en responde_a pertenece_a consta_de \
            se_celebra se_reúne tiene_lugar abre_a cierra_a sale_a funciona_con funciona_en \
            corre_en aparca figura_como se_imparte alquilado alquilada \
            asegurado asegurada cifrado cifrada facturado facturada",
        measures: "cuesta pesa dura gana paga mide tarda admite contiene fuma tiene vale reintenta \
            permite \
            limitado limitada limitados limitadas conserva conservan guarda guardan caduca \
            caducan expira expiran",
        attributes: "tesorero tesorera directora_del_colegio cumpleaños edad dirección sueldo \
            salario alquiler presupuesto límite precio tamaño peso versión estado reunión entrega \
            fecha tiempo médico médica jefe jefa nombre coche carro contraseña teléfono móvil \
            celular correo email puerto plazo color favorito favorita idioma rama licencia cargo \
            puesto trabajo profesión empresa casero casera dentista abogado abogada entrenador \
            entrenadora profesor profesora director directora presidente presidenta capitán \
            capitana tutor tutora marca modelo banco seguro tarifa plan gimnasio universidad \
            colegio carrera portátil ordenador computadora editor navegador servidor base_de_datos \
            framework moneda zona_horaria temperatura capacidad duración altura objetivo meta \
            récord nota dosis medicamento peluquero oficina sede boda cita examen lugar apodo \
            talla número pareja contacto responsable proveedor patrocinador sueldo_bruto \
            honorarios paga mensualidad cuota matrícula tasa tipo_de_interés comisión hipoteca \
            préstamo factura recibo intervalo tope máximo mínimo umbral cobertura memoria ram \
            disco almacenamiento resolución volumen brillo extensión código código_postal pin iban \
            dni pasaporte matrícula_del apellido seudónimo alias usuario_es lengua_materna \
            nacionalidad religión domicilio sucursal departamento encargado encargada gerente \
            coordinador coordinadora supervisor supervisora alcalde alcaldesa rector rectora \
            párroco portero portera veterinario veterinaria pediatra psicólogo psicóloga terapeuta \
            fisioterapeuta oftalmólogo ginecólogo ginecóloga cardiólogo traumatólogo gestor \
            gestora asesor asesora niñera canguro profesor_particular operador operadora \
            compañía_de_luz compañía_telefónica contrato permanencia horario apertura cierre \
            salida llegada ensayo entrenamiento clase tutoría retrospectiva lanzamiento entrega_es \
            estreno partido_es fiesta vacaciones destino sistema_operativo \
            navegador_predeterminado lenguaje gestor_de_paquetes rama_principal \
            rama_predeterminada motor proveedor_de_nube región dominio subdominio protocolo \
            tensión pulso grupo_sanguíneo talla_de_zapato gafas graduación pelo peinado barba \
            bicicleta bici desayuno turno jornada despertador aula sala planta piso_número asiento \
            andén puerta_de_embarque punto_de_encuentro restaurante_favorito equipo_favorito \
            película_favorita libro_favorito comida_favorita",
        personal: "cumpleaños edad sueldo salario alquiler peso altura apodo nacionalidad cuota",
        of_things: "precio tamaño peso edad nombre color fecha estado número capacidad duración \
            altura matrícula modelo marca tasa cuota asiento sala",
        unique: "última último actual oficial principal único única predeterminado predeterminada \
            favorito favorita estable",
        former: "antiguo antigua primer primera primero anterior anteriores previo previa ex \
            segundo segunda tercer tercero",
        several: "puerto entre_los entre_las entre_sus pasaporte billete certificado bolso suscripción incluye incluyen hermano hermana hijo hija amigo amiga primo prima sobrino sobrina gato perro \
            mascota cliente vecino vecina compañero compañera colega tío tía curso clase tren \
            autobús vuelo viaje libro película canción paquete factura pedido concierto receta \
            uno_de una_de",
        states: "abierto abierta cerrado cerrada | roto rota arreglado arreglada averiado \
            averiada | activo activa inactivo inactiva activado desactivado encendido apagado | \
            terminado pendiente | soltero soltera casado casada divorciado divorciada prometido \
            prometida viudo viuda | desempleado desempleada empleado jubilado jubilada parado | \
            enfermo enferma sano sana | lleno vacío | vivo muerto | público privado | embarazada \
            | vegetariano vegetariana vegano vegana | aprobado rechazado | verde rojo | \
            disponible agotado | pagado pagada impagado vencido | programado cancelado aplazado \
            cancelada aplazada | aceptado aceptada rechazada | ocupado ocupada libre | encriptado \
            cifrado | manual automático automática | publicado borrador | despierto dormido | \
            corto largo corta larga | mojado seco | permitido prohibido permitida prohibida | \
            en_línea desconectado | feliz triste | limpio sucio | jornada_completa media_jornada \
            | obligatorio opcional voluntario | propietario inquilino | turno_de_día \
            turno_de_noche",
        units: "segundo segundos minuto minutos hora horas día días semana semanas mes meses año \
            años euros dólares pesos por_ciento kilos kg g km m cm gb mb tb ms litros grados \
            miembros personas empleados kilómetros metros puntos páginas veces peticiones",
        days: "lunes martes miércoles jueves viernes sábado sábados domingo domingos",
        seasons: "primavera verano otoño invierno navidad q1 q2 q3 q4",
        past: "fue fueron viajó visitó compró estuvo era había hizo vio fui pagó leyó ganó dio \
            vino gastó conoció comió bebió jugó perdió encontró pintó arregló escribió cocinó nadó \
            corrió asistió participó vendió_ayer trabajó vivió estudió",
        qualifiers: "mañanas tardes noches verano invierno producción pruebas desarrollo invitados \
            izquierda derecha laborables semana",
        regions: "españa francia italia alemania méxico perú inglaterra suecia noruega suiza \
            andalucía cataluña galicia colombia argentina chile bolivia ecuador uruguay paraguay \
            venezuela cuba portugal europa américa asia asturias ciudad pueblo campo extranjero",
        verbs: "fum+a+aba va viene ponen hace duerme nada corre llega pone sirve está baja cae \
            depende pertenece cuida",
        titles: "dr dra sr sra doña don",
        idioms: "turno_de_mañana no_está_mal sin_duda no_es_para_menos de_vez_en_cuando nada_más",
        home: "vive vivía viven reside residía mudó se_mudó trasladó domicilio dirección casa piso \
            apartamento viviendo mudarse residencia mudado mudada mudaron trasladado trasladada \
            vivienda se_instaló instalado instalada domiciliado domiciliada apartamento_en ático \
            chalet estudio residencia_en alojado_en alquila_un alquila_una mudanza afincado \
            afincada empadronado empadronada hogar trasladó_a",
        work: "trabaja trabajaba trabajo empleo estudia estudiante contratado contratada puesto \
            cargo profesor profesora ingeniero ingeniera abogado abogada médico desempleado \
            desempleada jubilado jubilada jubiló empresa carrera universidad gerente director \
            directora enfermero enfermera camarero autónomo despedido renunció camarera secretario \
            secretaria contable cajero cajera dependiente dependienta cocinero cocinera panadero \
            panadera carpintero carpintera fontanero electricista mecánico mecánica albañil \
            peluquero peluquera juez jueza policía bombero bombera funcionario funcionaria \
            programador programadora informático informática arquitecto arquitecta diseñador \
            diseñadora periodista editor editora investigador investigadora científico científica \
            becario becaria aprendiz practicante jefe_de jefa_de encargado encargada coordinador \
            coordinadora consultor consultora vendedor vendedora comercial taxista conductor \
            conductora agricultor agricultora jardinero jardinera florista maestro maestra \
            directivo directiva bufete hospital fábrica banco_en tienda universitario \
            universitaria bachillerato instituto colegio grado máster doctorado oposiciones paro \
            media_jornada jornada_completa prácticas freelance autónoma emprendedor emprendedora \
            negocio despido",
        marriage: "soltero soltera casado casada casó divorció divorciado divorciada prometido \
            prometida novia novio esposo esposa viudo viuda pareja boda separó separado separada \
            se_casó se_casaron comprometido comprometida compromiso matrimonio marido mujer \
            exmarido exmujer exnovio exnovia pareja_de_hecho unión_libre sale_con salía_con \
            separaron divorciaron enviudó soltería ennoviado ennoviada",
        diet: "carne vegetariano vegetariana vegano vegana come_carne dieta vegetarianismo \
            veganismo pescetariano pescetariana celíaco celíaca sin_gluten sin_lactosa abstemio \
            abstemia alcohol ayuno ayuna fuma fumar fumador fumadora cigarrillos tabaco \
            come_de_todo",
        health: "embarazada dio_a_luz enfermo enferma sano lesionado lesionada baja hospital \
            recuperado embarazo parto encinta operado operada operación quimioterapia cáncer \
            remisión gripe covid neumonía fiebre resfriado esguince fractura roto_la_pierna \
            muletas silla_de_ruedas escayola yeso rehabilitación ingresado ingresada hospitalizado \
            hospitalizada alta convaleciente cuarentena",
        past_endings: "ó",
        auxiliaries: "ha han",
        participles: "*ado *ido",
        counting: "_ dos tres cuatro cinco seis siete ocho nueve diez _ doce",
        age: "años edad cumplió",
        uses: "usa usan utiliza emplea conduce corre",
        feels: "pasión apasiona orgulloso orgullosa agradecido sueña motivación motivada motivado \
            ilusión disfruta valora inspira",
        awaits: "espera esperando busca buscando busco ahorra ahorrando prepara preparando \
            entrena_para todavía aún todavía_no aún_no lucha_con le_cuesta de_baja ingresado \
            ingresada",
        at_last: "por_fin finalmente al_final al_fin de_una_vez desde_entonces hoy_en_día \
            últimamente pasó_a_la_historia es_historia dio_luz_verde luz_verde se_acabó \
            hace_tiempo_que hace_un_año_que hace_meses_que desde_hace sin_problemas sin_problema \
            perfectamente con_normalidad",
        recent: "ayer anoche anteayer la_semana_pasada el_mes_pasado el_año_pasado \
            el_fin_de_semana_pasado este_fin_de_semana esta_mañana \
             hace_poco recientemente el_lunes_pasado en_vacaciones",
        articles: "el la los las un una unos unas del al",
        finite: "es son era eran fue está están estaba ha han había",
        joins: "y e o pero sino porque que",
        families: "vehicle: coche coches carro auto moto motocicleta furgoneta camioneta ibiza \
            seat golf polo fiat ford fiesta opel corsa toyota yaris renault clio peugeot citroën \
            dacia tesla volvo bmw audi mercedes kia nissan skoda honda conduce vespa patinete \
            eléctrico híbrido diésel gasolina desguace garaje | commute: autobús bus metro tren \
            tranvía bici bicicleta andando a_pie al_trabajo a_la_oficina va_en cercanías \
            teletrabaja teletrabajo patinete | phone: móvil móviles celular teléfono iphone \
            android samsung galaxy pixel xiaomi smartphone fairphone | computer: portátil \
            ordenador computadora macbook pc tableta tablet ipad | sleep: duerme dormir duermo \
            dormía despertador levanta levanto despierta despierto acuesta acuesto insomnio \
            siesta madruga madrugador cama sofá colchón cuna | study: estudia estudio estudiante \
            carrera universidad instituto bachillerato colegio máster doctorado tesis grado curso \
            examen exámenes selectividad facultad ingeniería medicina derecho graduado licenciada \
            matriculado matriculada oposiciones nota notas eso primaria secundaria guardería \
            escuela_infantil | tongue: inglés francés alemán italiano japonés portugués chino \
            árabe ruso catalán euskera gallego idioma aprende coreano griego español traducida \
            tradujo idiomas | child: embarazada embarazo bebé parto nació dio_a_luz baja_maternal \
            gemelos primer_hijo espera_un espera_una niña_nació adopción | pet: perro perra gato \
            gata gatito cachorro conejo hámster loro caballo tortuga mascota veterinario \
            veterinaria protectora pienso correa periquito | allergy: alérgico alérgica alergia \
            alergias intolerante intolerancia tolera lactosa gluten penicilina cacahuetes marisco \
            polen | medicine: pastillas pastilla medicación medicamento medicina_para dosis mg \
            insulina antibiótico antibióticos antidepresivo antidepresivos tratamiento receta \
            recetó jarabe terapia ibuprofeno | smoking: fuma fumo fumar fumador fumadora \
            cigarrillos cigarrillo tabaco vapea cajetilla paquete_al_día puros | alcohol: alcohol \
            cerveza cervezas vino copas abstemio abstemia sobrio sobria bebe_alcohol whisky | \
            drink: café té descafeinado infusión infusiones leche azúcar refrescos cola \
            manzanilla cortado mate | sport: fútbol tenis baloncesto pádel natación nada gimnasio \
            gym corre correr maratón triatlón yoga pilates boxeo judo kárate escalada escala \
            ciclismo equipo club entrena entrenamiento balonmano voleibol esquí portero delantero \
            zumba atletismo | music: piano guitarra violín chelo violonchelo flauta clarinete \
            trompeta saxofón batería coro orquesta banda bajo acordeón oboe canta_en viola arpa | \
            hair: pelo cabello barba bigote calvo flequillo melena trenzas rubio rubia moreno \
            morena castaño tiñó teñido afeitado afeitó rapado rizos coleta | sight: gafas \
            lentillas lentes vista miopía | bank: banco cuenta santander bbva caixabank sabadell \
            bankinter ing caja tarjeta hipoteca_con | insurance: seguro aseguradora mapfre \
            adeslas sanitas póliza asegurado asegurada axa mutua | provider: compañía movistar \
            vodafone orange yoigo tarifa operador luz endesa iberdrola naturgy fibra contrato \
            digi proveedor calefacción gas caldera bomba_de_calor placas_solares | media: netflix \
            spotify suscripción suscrito suscrita periódico revista boletín podcast hbo filmin \
            resumen_diario | contact: dirección correo email teléfono número código_postal \
            domicilio buzón usuario_de | money: sueldo salario alquiler hipoteca presupuesto \
            precio cuesta cobra gana debe deuda préstamo paga ahorros ahorra cuota plazos \
            a_medio_pagar pagado liquidó euros_al_mes saldó | appointment: reunión cita plazo \
            entrega boda fiesta ensayo clase clases examen_es entrevista lanzamiento taller \
            congreso ceremonia turno consulta partido revisión vuelo_es junta sesión daily | \
            travel: viaje vuelo vuela hotel reservado reserva visado vacaciones crucero \
            luna_de_miel billete billetes excursión camino_de_santiago pasaporte consulado | \
            charge: dirige dirigido dirección_del lidera líder responsable encargado encargada \
            jefe jefa gestiona gestionado lleva_el mantiene mantenedor coordina coordinador \
            coordinadora guardia guardias presidente presidenta capitán tesorero tesorera \
            asignado asignada a_cargo mando relevo entrenador entrenadora entrena_al delegada \
            delegado | progress: borrador en_revisión pendiente bloqueado bloqueada espera \
            aprobado aprobada rechazado rechazada denegado abierto abierta cerrado cerrada \
            en_curso terminado publicado publicada pausado cancelado producción beta falla \
            fallaba caído roto arreglado entregado denegó concedió | database: base_de_datos \
            mysql postgres postgresql sqlite mariadb mongodb redis oracle | code: python java \
            javascript typescript ruby rust kotlin php escrito_en escrita_en reescribió reescrito \
            lenguaje programado | framework: framework react vue angular svelte django flask \
            rails laravel wordpress prestashop magento shopify drupal | editor: editor vim neovim \
            emacs vscode pycharm sublime intellij | hosting: alojado alojada servidor servidores \
            nube aws azure hetzner ovh kubernetes docker desplegado clúster hosting google_cloud \
            | pipeline: ci pipeline jenkins github_actions gitlab_ci compilación despliegues cron \
            | system: linux ubuntu debian windows macos sistema_operativo fedora | chat: slack \
            teams discord whatsapp telegram zoom skype | tracker: jira trello asana linear \
            tickets incidencias redmine | notes: notion obsidian evernote onenote libreta \
            cuaderno apuntes excel hoja_de_cálculo papel tela agenda notas_en | repository: rama \
            github gitlab bitbucket rama_principal squash rebase monorepo commits | license: \
            licencia licenciado gpl mit apache código_abierto privativo | format: tabuladores \
            espacios viñetas markdown respuestas_cortas breves detalladas formal informal tono \
            emojis modo_oscuro modo_claro listas prosa formato | greeting: llama llaman apodo \
            tutea tutear de_usted de_tú nombre apellido que_le_llamen | staff: empleados \
            trabajadores plantilla miembros personas equipo_de desarrolladores tiendas sucursales \
            socios | friendship: amigos amigas se_habla se_hablan pelea peleados reconciliado \
            reconciliaron reconciliados hizo_las_paces hicieron_las_paces enfadado distanciados | \
            injury: escayola cabestrillo muletas roto_el esguince rodilla tobillo muñeca brazo \
            pierna rehabilitación fisioterapia fisio lesión lesionado lesionada operó operada \
            operado alta traumatólogo silla_de_ruedas fractura de_baja baja reincorporó \
            reincorporado hospital ingresada ingresado espalda | reading: lee leyendo libro \
            novela serie temporada capítulo terminado_de_leer | furniture: nevera lavadora \
            lavavajillas escritorio televisor sofá_cama horno armario | permit: carné \
            carnet_de_conducir permiso visado nacionalidad residencia pasaporte aprobó_el_carné \
            autoescuela | housing: piso casa apartamento habitación estudio_en alquila alquilado \
            alquiler compañero_de_piso compañeros_de_piso padres vive vivo vivía mudó mudarse \
            mudado instaló casero inquilino se_independizó local | food: carne vegetariano \
            vegetariana vegano vegana pescado marisco come comía dieta sin_gluten azúcar dulces \
            ayuno desayuna queso lácteos huevos cerdo de_todo | shift: turno turnos \
            turno_de_noche turno_de_día turno_de_mañana turno_de_tarde de_noche de_día jornada \
            media_jornada jornada_completa tiempo_completo tiempo_parcial horas_semanales | \
            files: csv json xml yaml toml parquet avro pdf html docx xlsx jpeg png latex | \
            secret: contraseña contraseñas clave pin llave_de_acceso doble_factor token \
            certificado sesión_única wifi | fear: miedo pánico teme temor fobia asustado asustada \
            nervioso vértigo superó | workplace: oficina sede planta despacho mesa_de_trabajo \
            edificio escritorio_en coworking taller bajos",
        numbered: "versión lanzamiento ticket tique sprint capítulo pr rfc planta piso paso \
            fase hito episodio lección iteración sección página volumen parte temporada semana \
            trimestre nivel ronda etapa puerta sala factura pedido caso artículo lote migración \
            notas",
        renames: "renombr* rebautiz* pasó_a_llamarse ahora_se_llama",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
