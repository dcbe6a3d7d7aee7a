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
    claims: Claims {
        now: "ahora actualmente a_partir_de_ahora hoy_en_día desde_ahora en_la_actualidad \
            de_ahora_en_adelante últimamente ahora_mismo a_día_de_hoy desde_hoy",
        ends: "ya_no ya_no_es dejó_de dejado_de no…más nunca_más dejaron_de deja_de dejó_el \
            dejó_la ha_dejado abandonó",
        disposes: "vendió vendido vendida canceló cancelado cancelada murió falleció regaló \
            devolvió perdió tiró eliminó borró anuló anulada anulado se_deshizo dio_de_baja \
            se_dio_de_baja suspendió donó suspendida",
        closes: "terminó terminado acabó finalizó concluyó arreglado arreglada arregló reparó \
            reparado reparada resuelto resuelta resolvió eliminado eliminada se_separó se_divorció \
            divorciado divorciada dio_a_luz se_fue cerró cerrado cerrada se_retiró jubiló \
            se_jubiló aprobó se_recuperó recuperó curado encontró funciona_de_nuevo de_nuevo \
            completó completada completado corregido corregida fusionado desactivado renunció \
            se_graduó graduó expiró caducó rompió volvió_al regresó",
        changes: "se_mudó mudó mudado mudada se_trasladó trasladó trasladado cambió cambiado \
            cambia pasó se_pasó migró migrado reemplaz* sustituy* actualizó actualizado \
            actualizada ascendi* subió bajó aumentó redujo aumentado reducido aplazó aplazado \
            aplazada retrasó pospuso pospuesta adelantó amplió ampliado prolongó convirtió \
            se_convirtió renombró renombrado movió movió_a se_movió creció duplicó trasladó_a \
            reprogramó reprogramada en_su_lugar pintó_de ahora_es aplazaron trasladaron cambiaron \
            subieron bajaron retrasaron adelantaron movieron pasaron se_ha_mudado ha_cambiado \
            negoció la_dejó_en lo_dejó_en lleva",
        begins: "se_casó compró empezó comenzó nuevo nueva adoptó aceptó contratado contratada \
            se_unió entró se_comprometió consiguió casado_con estrenó se_incorporó abrió",
        leaves: "dejó renunció abandonó despidieron despedido despedida se_marchó salió_de dimitió",
        corrects: "en_realidad corrección de_hecho rectificación error equivocación realmente \
            en_verdad por_error malentendido",
        replaces: "en_lugar_de en_vez_de en_lugar_del en_vez_del",
        contrasts: "sino",
        adds: "también además otro otra otros otras no_solo no_sólo ya_no_solo segundo segunda \
            tercero tercera asimismo igualmente tanto adicional ambos ambas uno_de una_de \
            junto_con aparte incluso",
        hedges: "si gustaría podría podrían quizás quizá tal_vez piensa pensando considera \
            considerando quisiera dice dijo dicen dice_que según cree creía parece sueña espera \
            planea a_lo_mejor aseguran asegura afirma supuestamente al_parecer posiblemente \
            probablemente duda habría sería estaría tendría viviría trabajaría rumor rumorea \
            rumores contó cuenta_que cuenta imagina desea intenta pretende acaso ojalá casi \
            debería va_a van_a_ver iba_a quiere_*ar quiere_*er quiere_*ir quería_*ar quiere_*arse",
        temporary: "esta_semana hoy ayer de_vacaciones de_visita este_mes este_fin_de_semana \
            temporalmente por_ahora de_momento por_el_momento esta_noche esta_mañana esta_tarde \
            este_año este_verano hasta_el hasta_la hasta_mañana hasta_nuevo durante_una_semana \
            por_una_semana de_viaje una_vez de_paso mañana la_semana_pasada este_lunes \
            este_viernes anoche",
        partly: "cuando mientras solo sólo solamente a_veces en_la_mayoría_de_los_casos únicamente \
            normalmente generalmente casi_siempre parcialmente en_parte directamente salvo excepto \
            a_menudo rara_vez principalmente",
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
        many: "habla hablan gusta gustan encanta juega juegan toca lee escucha come bebe sabe \
            conoce escribe visitó viajó compró encantan odia ama aprende cocina colecciona viaja \
            miembro alérgico alérgica compatible disponible menciona canta baila pinta \
            estudia_también ve necesita quiere admira cree espera interesa aficionado fan puede \
            ofrece recomienda soporta exporta teme miedo",
        one: "vive vivía viven viviendo trabaja trabajaba trabajan trabajando prefiere prefieren \
            cierra abre empieza comienza termina llama cuesta pesa dura usa usan utiliza corre \
            gana paga conduce estudia reside sale llega acaba funciona programa reporta depende_de \
            alquila duerme se_levanta enseña escrito escrita alojado alojada basado basada \
            dirigido dirigida ensaya celebra entrena guarda almacena emplea escucha_en",
        measures: "cuesta pesa dura gana paga mide tarda admite contiene fuma tiene vale reintenta \
            permite",
        attributes: "cumpleaños edad dirección sueldo salario alquiler presupuesto límite precio \
            tamaño peso versión estado reunión entrega fecha tiempo médico médica jefe jefa nombre \
            coche carro contraseña teléfono móvil celular correo email puerto plazo color favorito \
            favorita idioma rama licencia cargo puesto trabajo profesión empresa casero casera \
            dentista abogado abogada entrenador entrenadora profesor profesora director directora \
            presidente presidenta capitán capitana tutor tutora marca modelo banco seguro tarifa \
            plan gimnasio universidad colegio carrera portátil ordenador computadora editor \
            navegador servidor base_de_datos framework moneda zona_horaria temperatura capacidad \
            duración altura objetivo meta récord nota dosis medicamento peluquero oficina sede \
            boda cita examen lugar apodo talla número pareja contacto responsable proveedor \
            patrocinador",
        personal: "cumpleaños edad sueldo salario alquiler peso altura apodo",
        of_things: "precio tamaño peso edad nombre color fecha estado número capacidad duración \
            altura",
        unique: "última último actual oficial principal único única predeterminado predeterminada \
            favorito favorita estable",
        former: "antiguo antigua primer primera primero anterior anteriores previo previa ex \
            segundo segunda tercer tercero",
        several: "hermano hermana hijo hija amigo amiga primo prima sobrino sobrina gato perro \
            mascota cliente vecino vecina compañero compañera colega tío tía curso clase tren \
            autobús vuelo viaje libro película canción paquete factura pedido concierto receta",
        states: "abierto abierta cerrado cerrada | roto rota arreglado arreglada averiado averiada \
            | activo activa inactivo inactiva activado desactivado encendido apagado | terminado \
            pendiente | soltero soltera casado casada divorciado divorciada prometido prometida \
            viudo viuda | desempleado desempleada empleado jubilado jubilada parado | enfermo \
            enferma sano sana | lleno vacío | vivo muerto | público privado | embarazada | \
            vegetariano vegetariana vegano vegana | aprobado rechazado | verde rojo | disponible \
            agotado",
        units: "segundo segundos minuto minutos hora horas día días semana semanas mes meses año \
            años euros dólares pesos por_ciento kilos kg g km m cm gb mb tb ms litros grados \
            miembros personas empleados kilómetros metros puntos páginas veces peticiones",
        days: "lunes martes miércoles jueves viernes sábado sábados domingo domingos",
        seasons: "primavera verano otoño invierno navidad q1 q2 q3 q4",
        past: "fue fueron viajó visitó compró estuvo era había hizo vio fui pagó leyó ganó dio \
            vino gastó conoció comió bebió jugó perdió encontró pintó arregló escribió cocinó nadó \
            corrió asistió participó vendió_ayer trabajó vivió estudió",
        qualifiers: "mañanas tardes noches verano invierno producción pruebas desarrollo invitados \
            izquierda derecha laborables",
        regions: "españa francia italia alemania méxico perú inglaterra suecia noruega suiza \
            andalucía cataluña galicia colombia argentina chile bolivia ecuador uruguay paraguay \
            venezuela cuba portugal europa américa asia asturias ciudad pueblo campo extranjero",
        verbs: "fum+a+aba va viene ponen hace duerme nada corre llega pone sirve está baja cae \
            depende pertenece cuida",
        titles: "dr dra sr sra doña don",
        idioms: "no_está_mal sin_duda no_es_para_menos de_vez_en_cuando nada_más",
        home: "vive vivía viven reside residía mudó se_mudó trasladó domicilio dirección casa piso \
            apartamento viviendo mudarse residencia mudado mudada mudaron trasladado trasladada",
        work: "trabaja trabajaba trabajo empleo estudia estudiante contratado contratada puesto \
            cargo profesor profesora ingeniero ingeniera abogado abogada médico desempleado \
            desempleada jubilado jubilada jubiló empresa carrera universidad gerente director \
            directora enfermero enfermera camarero autónomo despedido renunció camarera",
        marriage: "soltero soltera casado casada casó divorció divorciado divorciada prometido \
            prometida novia novio esposo esposa viudo viuda pareja boda separó separado separada",
        diet: "carne vegetariano vegetariana vegano vegana come_carne dieta",
        health: "embarazada dio_a_luz enfermo enferma sano lesionado lesionada baja hospital \
            recuperado",
        past_endings: "ó",
        auxiliaries: "ha han",
        participles: "*ado *ido",
        counting: "_ dos tres cuatro cinco seis siete ocho nueve diez _ doce",
        age: "años edad cumplió",
        uses: "usa usan utiliza emplea conduce corre",
        ..Claims::NOTHING
    },
    ..Lexicon::NOTHING
};
